import type { Connection } from '../connection/connection.ts'
import { READS, type ReadName, type ReadRequest, type ReadResult } from '../operations.ts'

export function runRead<Name extends ReadName>(
  db: Connection,
  name: Name,
  request: ReadRequest<Name>,
): ReadResult<Name> {
  const read = READS[name] as (db: Connection, request: ReadRequest<Name>) => ReadResult<Name>
  return read(db, request)
}
