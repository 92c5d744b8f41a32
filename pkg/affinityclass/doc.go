// SPDX-License-Identifier: Apache-2.0

// Package affinityclass has the rules of Tenants, of the AffinityClasses that their applications may have, and of what follows from a class:
// docs/spec/affinity-class.md 1.1 to 1.5.
//
// A Tree has the effective classes of all Tenants. CheckTenant and CheckApplication are the reviews of admission; Resolve chooses the class
// of an application with the same rules, once per spec; Release is what the HelmRelease of an application has to have; SetValues edits the
// Secret of a Tenant; Walk finds the HelmRelease that a Pod belongs to, and CheckPod verifies the Pod against its class.
//
// The package is pure: it imports no client, reads no clock, and logs nothing. What it has to read on the way it asks of functions that
// the caller gives. Texts and lists are sorted, so that the same objects always give the same result.
package affinityclass
