// Package restart holds the specs of a hub that starts: over its own decisions, a backup, those of the upstream controller, or an old view.
package restart
