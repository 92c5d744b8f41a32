// SPDX-License-Identifier: Apache-2.0

// Package turns bounds the evaluations that users ask a process for: one of each user at a time, a number in all, and a number of waiting ones of
// each user, so that no user keeps the others, or the controllers, from theirs. The user whose last evaluation ended the longest time ago goes first,
// and users who ask without rest take a small part of a core together.
// The endpoint of explanations and the dashboard use it.
//
// The package knows no evaluation and no user but the name. A turn is given back by the function that Take returns.
package turns
