"""The kinds of promises, found by themselves: see `engine.privacy.promise.PromiseKind`."""
