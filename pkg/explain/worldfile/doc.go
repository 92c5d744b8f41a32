// Package worldfile reads an explain.World from YAML and JSON files: the objects that a hub would hold.
//
// A Reader is as strict as an API server that was asked to be strict. The CustomResourceDefinitions, which the caller passes in, check
// every object and fill in its defaults; unknown fields and kinds, missing names and duplicates are mistakes. It reads on after a
// mistake: the InputError of Reader.World has every Problem, with the file and the line it stands on.
//
// A ChangeReader reads Placements that are to be applied, and puts them on a World as kubectl apply puts them on a hub.
//
// A World has the cluster sets "default" and "global", which every hub has, even if no file does.
//
// The package never talks to an API server, never opens a file and never reads a clock: it is handed contents and names for them.
package worldfile
