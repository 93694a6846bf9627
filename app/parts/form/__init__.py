"""The form of a method, made from its declaration: parameters, columns, conditions, hierarchies."""
