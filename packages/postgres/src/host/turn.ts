import type { Connection } from '../connection/connection.ts'
import type { Session } from '../connection/session.ts'
import type { Marker } from './node.ts'

/** What one transaction needs. */
export interface Turn {
  readonly session: Session
  readonly db: Connection
  readonly marker: Marker
  readonly knownPosition: number
}
