// SPDX-License-Identifier: Apache-2.0

// Package statefile reads an explain.State from YAML and JSON files with the objects of a hub.
//
// A Reader is as strict as an API server with strict field validation. The CustomResourceDefinitions, which the caller passes in, validate
// every object and fill in its defaults; unknown fields, misspelt kinds, missing names and duplicates are errors. It continues after an error:
// the InputError of Reader.State has every Problem, with file and line. Objects of kinds that only others read are left out, and Reader.Notes
// counts them.
//
// A ChangeReader reads the objects of all kinds that can be compared, and its Apply writes them to a State as a hub would be written: as the API
// server has answered to dry runs, and otherwise by the three-way merges of apimachinery, by server-side apply over the definitions, or as a whole.
// Writes say which, and else the live objects do. Every part of a comparison sees its result.
//
// Admission policies, which the caller passes in, the validation rules of the definitions and what webhooks check (Kind.Admit) are evaluated by
// Reader.Review and ChangeReader.Apply for the objects that a hub has not admitted. Which these are depends on the Role of the files, and on what the
// API server has answered.
//
// A State has the cluster sets "default" and "global", which every hub has, even if no file does.
//
// The package never talks to an API server, never opens a file and never reads a clock: the caller passes contents with their names.
package statefile
