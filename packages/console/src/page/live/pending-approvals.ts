import type { PerdureClient } from '@perdure/client'
import { useEffect } from 'preact/hooks'
import type { Approval } from '../client/resources.ts'
import { createReloadPace } from '../parts/reload-pace.ts'
import { type Loaded, useLoaded } from '../parts/use-loaded.ts'
import type { LiveFeed } from './live-feed.ts'

export interface PendingApprovals {
  readonly items: readonly Approval[]
  readonly nextCursor: string | null
}

const NOTHING: PendingApprovals = { items: [], nextCursor: null }
const SHOWN = 100
const DECIDED = /^approval\.(resolved|expired)$/

interface Reading {
  readonly client: PerdureClient
  readonly feed: LiveFeed
  readonly isAllowed: boolean
}

/** Follows the approvals that wait for a decision. A decided one disappears with its event, without another request. */
export function usePendingApprovals({ client, feed, isAllowed }: Reading): Loaded<PendingApprovals> {
  const read = async () => (isAllowed ? client.approvals.list({ status: 'pending', limit: SHOWN }) : NOTHING)
  const loaded = useLoaded<PendingApprovals>(read, [client, isAllowed])
  const { reload, change } = loaded
  useEffect(() => {
    if (!isAllowed) return
    const pace = createReloadPace(reload)
    const stop = feed.listen(({ type, payload }) => {
      if (!type.startsWith('approval.')) return
      const { approvalId } = (payload ?? {}) as { readonly approvalId?: string }
      if (DECIDED.test(type))
        change((before) => ({ ...before, items: before.items.filter(({ id }) => id !== approvalId) }))
      pace.reloadSoon()
    }, pace.reloadSoon)
    return () => {
      stop()
      pace.stop()
    }
  }, [feed, isAllowed, reload, change])
  return loaded
}
