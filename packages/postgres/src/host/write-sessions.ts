import type { Planning, Session } from '../connection/session.ts'

/** Opens a connection to the writable server of this storage; rejects if there is none. */
export type OpenSession = (name: string, planning: Planning) => Promise<Session>

/** The connections that write. Only one of them is used at a time. */
export interface WriteSessions {
  /** The connection with this planning; opens another one if it was lost. */
  get(planning: Planning): Promise<Session>
  /** Closes every connection: the next ones may lead to another server. */
  drop(): Promise<void>
  /** Whether the last attempt to use or open a connection succeeded. */
  isConnected(): boolean
}

const NAMES: Readonly<Record<Planning, string>> = { pinned: 'groups', default: 'commits' }

export function createWriteSessions(open: OpenSession): WriteSessions {
  const sessions = new Map<Planning, Session>()
  let isConnected = true
  return {
    async get(planning) {
      const known = sessions.get(planning)
      if (known !== undefined && !known.isLost()) return known
      const session = await open(NAMES[planning], planning)
      sessions.set(planning, session)
      isConnected = true
      return session
    },
    async drop() {
      isConnected = false
      const dropped = [...sessions.values()]
      sessions.clear()
      await Promise.all(dropped.map((session) => session.close()))
    },
    isConnected: () => isConnected,
  }
}
