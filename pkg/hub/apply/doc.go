// SPDX-License-Identifier: Apache-2.0

// Package apply sends server-side apply, and goes on where the API server cannot carry it out for a reason that lies in a
// CustomResourceDefinition.
//
//   - An object whose managedFields have a version that its CustomResourceDefinition does not have any more: the API server answers every apply
//     to it with an internal error, whoever sends it and whatever it has. The Client computes what apply would have made of the object, with the
//     code and the schema of the API server, and sends the difference as a merge patch with a resourceVersion.
//   - A CustomResourceDefinition that lacks a field of what is applied: the API server answers with an internal error whatever the field
//     validation is. Of a status the Client applies the rest. Of other parts of an object it applies nothing and returns an OlderDefinitionError,
//     because a spec without a field can have another meaning.
//
// Promises: each apply is sent as it is first, so that nothing has to be switched back when the cause is gone. Conflicts are those of apply: of the
// resourceVersion and UID that are applied, and of field managers unless it is forced. What a field manager has applied before and does not
// apply any more is removed, and what nobody owns stays. The API server does not record what a merge patch in place of apply writes: Options.Owns
// has the fields that are removed all the same, also by the first apply of a status after the cure. Each cause is logged once for each process,
// with its cure, and an object with a version that is gone gets one Event of each process. A status that was applied without a field is not sent
// again until it or its object changes.
package apply
