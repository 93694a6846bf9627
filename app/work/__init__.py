"""What several screens ask of the engine, off the interface thread. Computes nothing itself."""
