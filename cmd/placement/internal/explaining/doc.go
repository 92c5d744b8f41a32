// SPDX-License-Identifier: Apache-2.0

// Package explaining is what placement explain does: Options are its flags, and each system has an explainer, which knows the types of its
// objects and prints their explanations, from files, from the objects of a hub or as the hub answers.
package explaining
