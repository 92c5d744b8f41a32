// SPDX-License-Identifier: Apache-2.0

// Package hubs has the hubs that the dashboard asks. Shared is that of a process of the hub, for everybody who logs in: it reviews what each user may
// read, and answers for others as the endpoint of explanations does. Own is that of one user on the user's machine, with the rights of a kubeconfig.
//
// Both answer by an answers.Explainer, and a Broadcast passes on to their pages that objects have changed. They write nothing.
package hubs
