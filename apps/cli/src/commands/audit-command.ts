import type { Call } from '../call.ts'
import { parseInstant } from '../duration.ts'
import { relativeText } from '../output/time-text.ts'
import { type PageFlags, pageQuery, readPage } from './read-page.ts'

export interface AuditFilterFlags {
  readonly action?: string
  readonly actor?: string
  readonly since?: string
  readonly until?: string
}

const filterOf = ({ action, actor, since, until }: AuditFilterFlags) => ({
  action,
  actor,
  since: since === undefined ? undefined : parseInstant('since', since, Date.now()),
  until: until === undefined ? undefined : parseInstant('until', until, Date.now()),
})

export async function auditListCommand(call: Call, flags: AuditFilterFlags & PageFlags): Promise<void> {
  const now = Date.now()
  const page = await readPage(call.client().audit.list({ ...pageQuery(flags), ...filterOf(flags) }), flags)
  call.out.list(page, [
    { head: 'SEQ', cell: ({ seq }) => seq },
    { head: 'ACTION', cell: ({ action }) => action },
    { head: 'BY', cell: ({ actor }) => actor.subject ?? actor.id ?? actor.kind },
    { head: 'TARGET', cell: ({ target }) => target },
    { head: 'DECISION', cell: ({ decision }) => decision, isStatus: true },
    { head: 'STATUS', cell: ({ status }) => status },
    { head: 'WHEN', cell: ({ at }) => relativeText(at, now) },
  ])
}

/** Streams the response to stdout, because the chain may not fit in memory. */
export async function auditExportCommand(
  call: Call,
  flags: AuditFilterFlags & { readonly format: 'ndjson' | 'csv' },
): Promise<void> {
  const response = await call.client().audit.export({ ...filterOf(flags), format: flags.format })
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) call.terminal.stdout.write(decoder.decode(chunk, { stream: true }))
}
