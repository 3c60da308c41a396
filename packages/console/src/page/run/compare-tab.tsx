import { useApp } from '../app-context.ts'
import { type Run, targetOf } from '../client/resources.ts'
import { DiffTable } from '../diff/diff-table.tsx'
import { Card, Empty, Facts, Shown, Status, shortId } from '../parts/basics.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { durationText } from '../parts/time.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { hrefOf, replaceQuery } from '../route.ts'
import { type ComparedSpan, compareSpans } from './compare-spans.ts'
import { createSpanFold, type Span } from './span-fold.ts'

/** More events than these of the other run are not read. */
const MAX_EVENTS = 10_000
const PAGE = 200

/** This run beside another one: by default the run that it repeats, otherwise the run of the same target before it. */
export function CompareTab({ run, spans }: { readonly run: Run; readonly spans: readonly Span[] }) {
  const { client, route } = useApp()
  const wanted = route.query.with
  const loaded = useLoaded(async () => {
    const otherId = wanted ?? run.forkOf?.runId ?? (await previousRun(client, run))
    if (otherId === undefined) return undefined
    const [other, events] = await Promise.all([client.runs.get(otherId), readSpans(client, otherId)])
    return { other, ...events }
  }, [run.id, wanted])
  return (
    <>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Compare with run
          <input
            type="text"
            class="code"
            placeholder="run_…"
            defaultValue={wanted ?? loaded.data?.other.id}
            key={loaded.data?.other.id}
            onChange={({ currentTarget }) => replaceQuery(route, { with: currentTarget.value.trim() || undefined })}
          />
        </label>
      </form>
      <Shown loaded={loaded}>
        {(data) =>
          data === undefined ? (
            <Empty>No earlier run of this target is stored. Enter the id of another run.</Empty>
          ) : (
            <Comparison run={run} spans={spans} other={data.other} others={data.spans} isCut={data.isCut} />
          )
        }
      </Shown>
    </>
  )
}

type Client = ReturnType<typeof useApp>['client']

async function previousRun(client: Client, run: Run): Promise<string | undefined> {
  const { kind, id } = targetOf(run)
  const { items } = await client.runs.list({
    ...(kind === 'agent' ? { agentId: id } : { workflowId: id }),
    until: run.createdAt,
    limit: 2,
  })
  return items.find((one) => one.id !== run.id)?.id
}

async function readSpans(client: Client, runId: string) {
  const fold = createSpanFold()
  let cursor: string | undefined
  for (let read = 0; read < MAX_EVENTS; ) {
    const page = await client.runs.events(runId, { limit: PAGE, order: 'asc', cursor })
    for (const event of page.items) fold.add(event)
    read += page.items.length
    if (page.nextCursor === null) return { spans: fold.spans, isCut: false }
    cursor = page.nextCursor
  }
  return { spans: fold.spans, isCut: true }
}

interface ComparisonProps {
  readonly run: Run
  readonly spans: readonly Span[]
  readonly other: Run
  readonly others: readonly Span[]
  readonly isCut: boolean
}

function Comparison({ run, spans, other, others, isCut }: ComparisonProps) {
  const heads = ['Other run', 'This run'] as const
  const rows = compareSpans(spans, others)
  return (
    <>
      <div class="two">
        {([other, run] as const).map((one, at) => (
          <Card key={one.id} title={heads[at] ?? ''}>
            <Facts
              rows={[
                [
                  'Run',
                  <a key="run" href={hrefOf(['runs', one.id])}>
                    {shortId(one.id)}
                  </a>,
                ],
                ['Status', <Status key="status" value={one.status} />],
                ['Duration', tookText(one.startedAt, one.completedAt)],
                ['Tokens', one.usage.inputTokens + one.usage.outputTokens],
                ['Error', one.error?.message],
              ]}
            />
          </Card>
        ))}
      </div>
      {isCut ? (
        <p class="note warn">Only the first {MAX_EVENTS.toLocaleString()} events of the other run are compared.</p>
      ) : null}
      <Card title="Calls">
        <DataTable
          rows={rows}
          keyOf={({ key }) => key}
          caption="Calls of both runs"
          empty="Neither run has recorded calls."
          columns={[
            { head: 'Call', cell: ({ name }) => name },
            { head: heads[0], cell: ({ other: theirs }) => spanText(theirs), isNumber: true },
            { head: heads[1], cell: ({ one }) => spanText(one), isNumber: true },
            { head: 'Difference', cell: differenceText, isNumber: true },
          ]}
        />
      </Card>
      <Card title="Input">
        <DiffTable before={other.input} after={run.input} caption="Inputs of both runs" heads={heads} />
      </Card>
      <Card title="Result">
        <DiffTable before={other.result} after={run.result} caption="Results of both runs" heads={heads} />
      </Card>
    </>
  )
}

const tookText = (from: string | undefined, to: string | undefined): string =>
  from === undefined || to === undefined ? '–' : durationText(Date.parse(to) - Date.parse(from))

function spanText(span: Span | undefined): string {
  if (span === undefined) return '–'
  const took = span.end === undefined ? 'running' : durationText(span.end - span.start)
  return span.status === 'failed' ? `✕ ${took}` : took
}

function differenceText({ one, other }: ComparedSpan): string {
  if (one === undefined) return 'only in the other run'
  if (other === undefined) return 'only in this run'
  if (one.end === undefined || other.end === undefined) return '–'
  const ms = one.end - one.start - (other.end - other.start)
  return ms === 0 ? 'same' : `${ms > 0 ? '+' : '−'}${durationText(Math.abs(ms))}`
}
