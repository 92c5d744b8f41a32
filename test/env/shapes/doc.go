// SPDX-License-Identifier: Apache-2.0

// Package shapes compares the objects of an installation with what its process needs to start and to serve: arguments that it accepts, rights,
// ports, Services and webhook configurations. It needs no API server.
package shapes
