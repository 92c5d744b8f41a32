// SPDX-License-Identifier: Apache-2.0

// Package ownpages serves the pages of the dashboard to the one user who has started a command, on a loopback address and behind a token.
package ownpages
