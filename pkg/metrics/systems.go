// SPDX-License-Identifier: Apache-2.0

package metrics

// SystemOn is 1 for each opt-in system that is on, and 0 for one that is off because of what it lacks.
var SystemOn = gauges(hub+"system_on",
	"Whether an opt-in system that is enabled is on (1) or off (0), because the API server does not serve a kind that it needs, "+
		"or because it fails: "+
		"see /readyz?verbose.", "system")
