#!/bin/bash
# Sources ROS 2, the vendors' packages where a workspace of them is mounted, and Prehend; then runs what it is told.
set -e
for setup in /opt/ros/jazzy/setup.bash /vendor/setup.bash /opt/prehend/local_setup.bash; do
  if [ -f "$setup" ]; then
    # shellcheck disable=SC1090
    source "$setup"
  fi
done
exec "$@"
