// Package fakeapi makes fake clients whose requests are cheap, and observes their writes, for the unit tests of reconcilers.
package fakeapi
