import type { Clock, EpochMs, NewAuditEntry, Timers } from '@perdure/ports'

export interface RefusalTallyDeps {
  readonly clock: Clock
  readonly timers: Timers
  readonly emit: (entry: NewAuditEntry) => void
}

export interface Refusal {
  readonly ip: string
  readonly error: string
}

/**
 * Counts refused unauthenticated requests and emits one entry per address and minute, however many requests were
 * refused.
 */
export interface RefusalTally {
  count(refusal: Refusal): void
  /** Emits the counts so far. */
  flush(): void
}

interface Tally {
  readonly at: EpochMs
  readonly codes: Map<string, number>
}

const MINUTE_MS = 60_000
const MAX_ADDRESSES = 1_000
/** The name under which all addresses beyond `MAX_ADDRESSES` are counted together. */
const OTHER_ADDRESSES = 'others'

export function createRefusalTally({ clock, timers, emit }: RefusalTallyDeps): RefusalTally {
  let byAddress = new Map<string, Tally>()
  let cancel = () => {}

  const flush = () => {
    cancel()
    const counted = byAddress
    byAddress = new Map()
    for (const [ip, tally] of counted) emit(toEntry(ip, tally))
  }

  return {
    count({ ip, error }) {
      if (byAddress.size === 0) cancel = timers.after(MINUTE_MS, flush)
      const address = byAddress.has(ip) || byAddress.size < MAX_ADDRESSES ? ip : OTHER_ADDRESSES
      const tally = byAddress.get(address) ?? { at: clock.now(), codes: new Map<string, number>() }
      tally.codes.set(error, (tally.codes.get(error) ?? 0) + 1)
      byAddress.set(address, tally)
    },
    flush,
  }
}

const toEntry = (ip: string, { at, codes }: Tally): NewAuditEntry => ({
  at,
  actor: { kind: 'anonymous', subject: 'anonymous' },
  action: [...codes.keys()].some((code) => code.startsWith('auth-')) ? 'auth.failed' : 'requests.refused',
  decision: 'denied',
  ip,
  detail: { count: [...codes.values()].reduce((sum, count) => sum + count, 0), ...Object.fromEntries(codes) },
})
