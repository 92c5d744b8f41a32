// SPDX-License-Identifier: Apache-2.0

// Package fakeapi makes fake clients whose requests are cheap, and observes their writes, for the unit tests of reconcilers.
package fakeapi
