// SPDX-License-Identifier: Apache-2.0

// Package controller writes the condition Greeted of Widgets.
package controller
