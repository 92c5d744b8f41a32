// SPDX-License-Identifier: Apache-2.0

// Package admission evaluates the ValidatingAdmissionPolicies of a hub for objects of files.
//
// The matching of requests, the parameters, the expressions and the messages are those of the API server: its dispatcher evaluates the policies.
// The glue of this package defaults and compiles the policies, which the API server does in unexported functions, and answers the dispatcher's
// reads of Namespaces and parameters from a World.
//
// Requests are those of a user who may do everything: the authorizer allows all. What a policy would refuse for lack of a right is admitted, and the
// Answer names the policy. A policy that selects Namespaces is not evaluated for one whose labels are not known, and named too.
//
// A request has the whole object, with its status, which a hub gets by requests for the subresource. Policies of the subresource alone are not
// evaluated.
//
// The package never talks to an API server, never opens a file and never reads a clock.
package admission
