import { may, useApp } from '../app-context.ts'
import { VerifyBadge } from '../audit/verify-badge.tsx'
import { API_URL } from '../client/api-url.ts'
import { Heading } from '../parts/basics.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Paged, usePages } from '../parts/paged.tsx'
import { Subject } from '../parts/subject.tsx'
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
      <Heading title="Audit">
        {may(app, 'audit:export') ? (
          <>
            <a class="button" href={`${API_URL}/audit/export`} download="audit.ndjson">
              Export as NDJSON
            </a>
            <a class="button" href={`${API_URL}/audit/export?format=csv`} download="audit.csv">
              Export as CSV
            </a>
          </>
        ) : null}
      </Heading>
      {may(app, 'audit:verify') || may(app, 'audit:export') ? <VerifyBadge /> : null}
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
              {
                head: 'Actor',
                cell: ({ actor }) => (actor.subject === undefined ? actor.kind : <Subject id={actor.subject} />),
              },
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
