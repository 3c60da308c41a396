import type { TokenRecord } from '@berth/ports'
import type { TokenEnv } from '@berth/protocol'
import { openTokenAdmin, type TokenAdmin } from '@berth/server-app'
import type { CommandContext } from '../command-context.ts'
import type { ConfigFlags } from '../config/load-config.ts'
import { loadForCommand } from '../config/load-for-command.ts'
import { validConfig } from '../config/valid-config.ts'
import { expiryOf } from '../expiry.ts'
import { tableText } from '../table-text.ts'
import { type Terminal, writeDocument } from '../terminal.ts'

export interface TokenFlags extends ConfigFlags {
  readonly json?: boolean
}

export interface TokenCreateFlags extends TokenFlags {
  readonly name: string
  readonly scopes: readonly string[]
  readonly subject?: string
  readonly env?: TokenEnv
  readonly expires?: string
  readonly expiresAt?: string
}

/** Without `--json` stdout holds the token alone, for `TOKEN=$(berth token create …)`. */
export async function tokenCreateCommand({ terminal }: CommandContext, flags: TokenCreateFlags): Promise<void> {
  const { name, scopes, subject, env } = flags
  const expiresAt = expiryOf(flags, Date.now())
  const { token, record } = await withTokens(terminal, flags, (admin) =>
    admin.mint({ name, scopes, subject, env, expiresAt }),
  )
  if (flags.json) {
    writeDocument(terminal, { ...tokenDocument(record), token })
    return
  }
  const until = record.expiresAt === undefined ? 'never expires' : `expires ${isoOf(record.expiresAt)}`
  terminal.stderr.write(`${record.id} for ${record.subject}: ${record.scopes.join(', ')}; ${until}; shown only now\n`)
  terminal.stdout.write(`${token}\n`)
}

export async function tokenListCommand({ terminal }: CommandContext, flags: TokenFlags): Promise<void> {
  const records = await withTokens(terminal, flags, allTokens)
  if (flags.json) {
    writeDocument(terminal, { items: records.map(tokenDocument), nextCursor: null })
    return
  }
  const now = Date.now()
  const rows = records.map((record) => [
    record.id,
    record.name,
    record.subject,
    `${record.env} …${record.last4}`,
    record.scopes.join(','),
    stateOf(record, now),
  ])
  terminal.stdout.write(tableText(['ID', 'NAME', 'SUBJECT', 'TOKEN', 'SCOPES', 'STATE'], rows))
}

export async function tokenRevokeCommand({ terminal }: CommandContext, id: string, flags: TokenFlags): Promise<void> {
  const record = await withTokens(terminal, flags, (admin) => admin.revoke(id))
  if (flags.json) writeDocument(terminal, tokenDocument(record))
  else terminal.stdout.write(`revoked ${record.id}\n`)
}

async function withTokens<T>(
  terminal: Terminal,
  flags: ConfigFlags,
  work: (admin: TokenAdmin) => Promise<T>,
): Promise<T> {
  const loaded = await loadForCommand(terminal, flags)
  const admin = await openTokenAdmin(validConfig(loaded), loaded)
  try {
    return await work(admin)
  } finally {
    await admin.close()
  }
}

const PAGE_SIZE = 200

async function allTokens(admin: TokenAdmin): Promise<readonly TokenRecord[]> {
  const records: TokenRecord[] = []
  let cursor: string | undefined
  do {
    const page = await admin.list({ limit: PAGE_SIZE, cursor, order: 'desc' })
    records.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return records
}

/** The record as the wire has it: no digest, ISO times, what is not set left out. */
function tokenDocument(record: TokenRecord) {
  const { id, name, subject, scopes, env, createdBy, last4 } = record
  return {
    id,
    name,
    subject,
    scopes,
    env,
    createdAt: isoOf(record.createdAt),
    createdBy,
    expiresAt: isoOf(record.expiresAt),
    lastUsedAt: isoOf(record.lastUsedAt),
    revokedAt: isoOf(record.revokedAt),
    last4,
  }
}

const isoOf = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString()

function stateOf({ revokedAt, expiresAt }: TokenRecord, now: number): string {
  if (revokedAt !== undefined) return `revoked ${isoOf(revokedAt)}`
  if (expiresAt === undefined) return 'active'
  return `${expiresAt <= now ? 'expired' : 'expires'} ${isoOf(expiresAt)}`
}
