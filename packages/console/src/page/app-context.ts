import type { PerdureClient } from '@perdure/client'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Session, Target } from './client/resources.ts'
import { allows } from './client/scopes.ts'
import type { TokenNames } from './client/token-names.ts'
import type { LiveFeed } from './live/live-feed.ts'
import type { PendingApprovals } from './live/pending-approvals.ts'
import type { Loaded } from './parts/use-loaded.ts'
import type { Route } from './route.ts'

/** What every page may use. */
export interface AppContext {
  readonly client: PerdureClient
  readonly session: Session
  readonly feed: LiveFeed
  readonly tokenNames: TokenNames
  /** Registered agents and workflows that the session may read. */
  readonly targets: readonly Target[]
  readonly route: Route
  /** The approvals that wait for a decision; empty for a session that may not read them. */
  readonly pending: Loaded<PendingApprovals>
  /** Shows a short message at the edge of the page. */
  readonly notify: (text: string, kind?: 'done' | 'failed') => void
  readonly signOut: () => void
}

export const Context = createContext<AppContext | undefined>(undefined)

export function useApp(): AppContext {
  const context = useContext(Context)
  if (context === undefined) throw new Error('a page is outside of the application')
  return context
}

/** Whether the session may do this to at least one row. */
export const may = ({ session }: Pick<AppContext, 'session'>, scope: string): boolean => allows(session.scopes, scope)

/** Whether the session may make this change. */
export const mayChange = (app: Pick<AppContext, 'session'>, scope: string): boolean =>
  !app.session.readOnly && may(app, scope)
