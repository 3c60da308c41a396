import { useState } from 'preact/hooks'
import { type Failure, failureOf } from '../api/failure.ts'
import { may, useApp } from '../app-context.ts'
import { FailureNote, Heading } from '../parts/basics.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Paged, usePages } from '../parts/paged.tsx'
import { Ago } from '../parts/time.tsx'
import { replaceQuery } from '../route.ts'

/** Who did what, and whether the chain is intact. */
export function AuditPage() {
  const app = useApp()
  const { client, route } = app
  const { action, actor } = route.query
  const loaded = usePages((cursor) => client.audit.list({ limit: 50, cursor, action, actor }), [action, actor])
  return (
    <>
      <Heading title="Audit" />
      {may(app, 'audit:verify') ? <VerifyBadge /> : null}
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Action
          <input
            type="text"
            defaultValue={action}
            placeholder="such as runs.retry"
            onChange={({ currentTarget }) => replaceQuery(route, { action: currentTarget.value })}
          />
        </label>
        <label>
          Actor
          <input
            type="text"
            defaultValue={actor}
            placeholder="subject or token id"
            onChange={({ currentTarget }) => replaceQuery(route, { actor: currentTarget.value })}
          />
        </label>
      </form>
      <Paged loaded={loaded}>
        {(entries) => (
          <DataTable
            rows={entries}
            keyOf={({ seq }) => String(seq)}
            caption="Audit entries, newest first"
            empty="No entry matches."
            columns={[
              { head: 'Number', cell: ({ seq }) => seq },
              { head: 'Action', cell: (entry) => entry.action },
              { head: 'Actor', cell: (entry) => entry.actor.subject ?? entry.actor.kind },
              { head: 'Target', cell: ({ target }) => <span class="id-text">{target}</span> },
              {
                head: 'Decision',
                cell: ({ decision, status }) => (status === undefined ? decision : `${decision} (${status})`),
              },
              { head: 'Hash', cell: ({ hash }) => <code title={hash}>{hash.slice(0, 8)}</code> },
              { head: 'Time', cell: ({ at }) => <Ago at={at} />, isNumber: true },
            ]}
          />
        )}
      </Paged>
    </>
  )
}

interface Verified {
  readonly ok: boolean
  readonly entries: number
  readonly head: { readonly seq: number; readonly hash: string } | null
  readonly firstBadSeq?: number | undefined
  readonly reason?: string | undefined
  readonly at: number
}

function VerifyBadge() {
  const { client } = useApp()
  const [verified, setVerified] = useState<Verified | undefined>(undefined)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const verify = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      setVerified({ ...(await client.audit.verify({})), at: Date.now() })
    } catch (error) {
      setFailure(failureOf(error))
    }
    setBusy(false)
  }
  return (
    <div class={`note ${verified === undefined ? '' : verified.ok ? 'good' : 'bad'}`} role="status">
      {verified === undefined ? (
        'Each entry contains the hash of the one before it.'
      ) : verified.ok ? (
        <>
          <strong>✓ Verified {verified.entries.toLocaleString()} entries</strong>
          {verified.head === null ? null : (
            <span class="quiet">
              {' '}
              up to {verified.head.hash.slice(0, 16)}, <Ago at={new Date(verified.at).toISOString()} />
            </span>
          )}
        </>
      ) : (
        <strong>
          ✕ Broken at entry {verified.firstBadSeq ?? '–'}: {verified.reason}
        </strong>
      )}
      {failure === undefined ? null : <FailureNote failure={failure} />}
      <div>
        <button type="button" disabled={isBusy} onClick={() => void verify()}>
          {isBusy ? 'Verifying…' : 'Verify the chain'}
        </button>
      </div>
    </div>
  )
}
