// Command ideal is a controller without a scheduler: it watches what the hub watches, with the same caches, and writes given decisions, or
// given ManifestWorks. What it takes is what the hub would take if evaluating placements, or federated objects, cost nothing.
package main
