// SPDX-License-Identifier: Apache-2.0

package metrics

var buildInfo = gauges(hub+"build_info",
	"1, with the version of placement-hub, the commit that it was built from and the version of Go.", "version", "commit", "go_version")

// SetBuild exports the build of this process.
func SetBuild(version, commit, goVersion string) {
	buildInfo.Reset()
	buildInfo.WithLabelValues(version, commit, goVersion).Set(1)
}
