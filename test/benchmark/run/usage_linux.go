// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// missing says what cannot be measured on this system.
var missing []string

// cpuTime is the time that all threads of a running process have spent on a CPU so far, to the nanosecond.
func cpuTime(pid int) (time.Duration, error) {
	// The clock of a process has its id turned over and the number of the clock in the last three bits: 2 is the scheduler's
	// (clock_getcpuclockid(3)).
	id := int64(^pid)<<3 | 2
	var spent syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(id), uintptr(unsafe.Pointer(&spent)), 0); errno != 0 {
		return 0, fmt.Errorf("reading the CPU time of process %d: %w", pid, errno)
	}
	return time.Duration(spent.Nano()), nil
}

// peakMemory is the most memory that a running process has had resident, in bytes.
func peakMemory(pid int) (int64, error) {
	path := fmt.Sprintf("/proc/%d/status", pid)
	content, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
		if text, found := strings.CutPrefix(lines.Text(), "VmHWM:"); found {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(text), " kB"), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("reading VmHWM in %s: %w", path, err)
			}
			return kib << 10, nil
		}
	}
	return 0, fmt.Errorf("%s has no VmHWM", path)
}

// resetPeak makes the resident memory of now the peak.
func resetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0) // proc_pid_clear_refs(5): 5 resets VmHWM.
}
