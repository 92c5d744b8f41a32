// SPDX-License-Identifier: Apache-2.0

// Package turns bounds the evaluations that users ask a process for: one of each user at a time, a number in all, and a number of waiting ones of
// each user, so that no user keeps the others, or the controllers, from theirs. The user whose last evaluation ended the longest time ago goes first,
// and users who ask without rest take a small part of a core together.
// The endpoint of explanations and the dashboard use it.
//
// A user is a Tenant: the accounts of a namespace are one. Places bounds what lasts as long as clients like, such as event streams. Bytes bounds the
// answers that are being written, and Cache what is kept for users.
//
// The package knows no evaluation. A turn is given back by the function that Take returns.
package turns
