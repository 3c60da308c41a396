import { API_URL } from '../api/connection.ts'
import type { Health } from '../api/resources.ts'
import { may, useApp } from '../app-context.ts'
import { Card, Facts, Heading, Shown, Status } from '../parts/basics.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { durationText } from '../parts/time.tsx'
import { useLoaded } from '../parts/use-loaded.ts'

/** The server itself. */
export function SystemPage() {
  const app = useApp()
  const { client } = app
  const loaded = useLoaded(() => client.health.get() as Promise<Health>, [])
  return (
    <>
      <Heading title="System">
        <button type="button" onClick={loaded.reload}>
          Read again
        </button>
      </Heading>
      <Shown loaded={loaded}>
        {(health) => (
          <>
            <Facts
              rows={[
                ['Status', <Status key="status" value={health.status} />],
                ['Version', health.version],
                ['Up for', durationText(health.uptimeSeconds * 1_000)],
                ['API', <code key="api">{API_URL}</code>],
              ]}
            />
            <Checks health={health} />
          </>
        )}
      </Shown>
      {may(app, 'secrets:read') ? <Secrets /> : null}
      {may(app, 'consolidator:read') ? <ConsolidatorState /> : null}
      <Card title="Configuration">
        <p>
          The configuration is not part of the API. On the machine of the server,{' '}
          <code>perdure config print --origin</code> shows every field with its origin, and <code>perdure doctor</code>{' '}
          checks the installation.
        </p>
      </Card>
    </>
  )
}

function Checks({ health }: { readonly health: Health }) {
  return (
    <Card title="Checks">
      <DataTable
        rows={Object.entries(health.checks)}
        keyOf={([name]) => name}
        caption="Health checks"
        empty=""
        columns={[
          { head: 'Check', cell: ([name]) => name },
          { head: 'Status', cell: ([, { status }]) => <Status value={status} /> },
          {
            head: 'Details',
            cell: ([, { status: _, ...details }]) =>
              Object.entries(details)
                .map(([name, value]) => `${name} ${detailText(name, value)}`)
                .join(' · '),
          },
        ]}
      />
    </Card>
  )
}

const MEGABYTE = 1_048_576

const detailText = (name: string, value: unknown): string =>
  typeof value === 'number' && /bytes/i.test(name) ? `${(value / MEGABYTE).toFixed(1)} MiB` : String(value)

function Secrets() {
  const { client } = useApp()
  const loaded = useLoaded(() => client.health.secrets(), [])
  return (
    <Card title="Secrets">
      <Shown loaded={loaded}>
        {({ active, downgradedFrom, downgradeReason, references }) => (
          <>
            <Facts
              rows={[
                ['Store', active],
                ['Instead of', downgradedFrom],
                ['Reason', downgradeReason],
              ]}
            />
            <DataTable
              rows={references}
              keyOf={({ field }) => field}
              caption="Secret references, without their values"
              empty="No secret is configured."
              columns={[
                { head: 'Field', cell: ({ field }) => <code>{field}</code> },
                { head: 'Scheme', cell: ({ scheme }) => scheme },
                { head: 'Resolved', cell: ({ resolved }) => <Status value={resolved ? 'ok' : 'fail'} /> },
              ]}
            />
          </>
        )}
      </Shown>
    </Card>
  )
}

function ConsolidatorState() {
  const { client } = useApp()
  const loaded = useLoaded(() => client.consolidator.get(), [])
  return (
    <Card title="Consolidator">
      <Shown loaded={loaded}>
        {({ running, queueDepth, deadLetters }) => (
          <Facts
            rows={[
              ['Running', running ? 'yes' : 'no'],
              ['Queued', queueDepth.extract + queueDepth.merge + queueDepth.decay],
              ['Dead letters', deadLetters],
            ]}
          />
        )}
      </Shown>
    </Card>
  )
}
