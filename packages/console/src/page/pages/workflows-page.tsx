import { may, mayChange, useApp } from '../app-context.ts'
import { Card, Empty, Facts, Heading, NoRunList, Shown, Status, shortId } from '../parts/basics.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Ago, Took } from '../parts/time.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { useReloadOn } from '../parts/use-reload.ts'
import { hrefOf } from '../route.ts'
import { useRunLog } from '../run/run-feed.ts'
import { waitReason } from '../run/wait-reason.ts'
import { StepGraph } from '../workflows/step-graph.tsx'

/** Workflows, and what their suspended runs wait for. */
export function WorkflowsPage() {
  const { targets } = useApp()
  const workflows = targets.filter(({ kind }) => kind === 'workflow')
  return (
    <>
      <Heading title="Workflows" />
      {workflows.length === 0 ? <Empty>No workflow is registered.</Empty> : null}
      {workflows.map(({ id, description }) => (
        <WorkflowCard key={id} id={id} description={description} />
      ))}
    </>
  )
}

const SHOWN = 20
/** The state of each of these suspended runs is read, one request each. */
const EXPLAINED = 5

function WorkflowCard({ id, description }: { readonly id: string; readonly description: string }) {
  const app = useApp()
  const start = mayChange(app, 'workflows:execute') ? <a href={hrefOf(['start', 'workflow', id])}>Start</a> : null
  return (
    <Card title={id} aside={start}>
      <p class="quiet">{description}</p>
      {may(app, 'runs:read') ? <Threads id={id} /> : <NoRunList />}
    </Card>
  )
}

function Threads({ id }: { readonly id: string }) {
  const { client } = useApp()
  const loaded = useLoaded(() => client.runs.list({ workflowId: id, limit: SHOWN }), [id])
  useReloadOn(({ subject }) => subject.startsWith(`workflow:${id}/`), loaded.reload)
  return (
    <Shown loaded={loaded}>
      {({ items }) => {
        const suspended = items.filter(({ status }) => status === 'suspended')
        const waiting = new Set(suspended.slice(0, EXPLAINED).map((run) => run.id))
        return (
          <DataTable
            rows={items}
            keyOf={(run) => run.id}
            caption={`Threads of ${id}, newest first`}
            empty="No run of this workflow is stored."
            columns={[
              {
                head: 'Thread',
                cell: (run) => (
                  <a class="id" href={hrefOf(['workflows', id, run.threadId ?? ''])} title={run.threadId}>
                    {shortId(run.threadId ?? '')}
                  </a>
                ),
              },
              { head: 'Status', cell: (run) => <Status value={run.status} /> },
              {
                head: 'Waits for',
                cell: (run) =>
                  run.status === 'suspended' && waiting.has(run.id) ? (
                    <WaitsFor key={run.suspendedAt} runId={run.id} />
                  ) : null,
              },
              {
                head: 'Run',
                cell: (run) => (
                  <a class="id" href={hrefOf(['runs', run.id])}>
                    {shortId(run.id)}
                  </a>
                ),
              },
              { head: 'Duration', cell: (run) => <Took from={run.startedAt} to={run.completedAt} />, isNumber: true },
              { head: 'Created', cell: (run) => <Ago at={run.createdAt} />, isNumber: true },
            ]}
          />
        )
      }}
    </Shown>
  )
}

/** What a suspended run waits for, which its state tells. */
function WaitsFor({ runId }: { readonly runId: string }) {
  const { client } = useApp()
  const { data } = useLoaded(() => client.runs.state(runId), [runId])
  return <>{data?.waitingFor?.map(waitReason).join(' ')}</>
}

/** One thread: its steps in order, what it waits for and why. */
export function ThreadPage({ workflowId, threadId }: { readonly workflowId: string; readonly threadId: string }) {
  const { client } = useApp()
  const loaded = useLoaded(() => client.workflows.state(workflowId, { threadId }), [workflowId, threadId])
  useReloadOn(({ subject }) => subject.startsWith(`workflow:${workflowId}/`), loaded.reload)
  return (
    <>
      <Heading
        title={
          <>
            <span class="crumb">
              <a href="#/workflows">Workflows</a> / {workflowId} /{' '}
            </span>
            <span class="id">{shortId(threadId)}</span>
          </>
        }
      />
      <Shown loaded={loaded}>
        {({ status, runId, steps, waitingFor, checkpointId }) => (
          <>
            <Facts
              rows={[
                ['Status', <Status key="status" value={status} />],
                [
                  'Run',
                  <a key="run" href={hrefOf(['runs', runId])}>
                    {shortId(runId)}
                  </a>,
                ],
                ['Last checkpoint', checkpointId],
              ]}
            />
            {waitingFor.map((wait, at) => (
              <p key={`${wait.kind} ${wait.name ?? at}`} class="note wait">
                {waitReason(wait)}{' '}
                {wait.approvalId === undefined ? null : <a href={hrefOf(['approvals'], { run: runId })}>Decide it</a>}
                {wait.runId === undefined ? null : <a href={hrefOf(['runs', wait.runId])}>Open the child run</a>}
              </p>
            ))}
            <RunGraph workflowId={workflowId} runId={runId} />
            <ol class="steps">
              {steps.map((step) => (
                <li key={step.seq} class={`step-${step.status}`}>
                  <strong>{step.name}</strong> <span class="quiet">{step.kind}</span> <Status value={step.status} />
                </li>
              ))}
            </ol>
            {steps.length === 0 ? <Empty>No step is recorded yet.</Empty> : null}
          </>
        )}
      </Shown>
    </>
  )
}

/** The graph of the calls that a run has made. */
function RunGraph({ workflowId, runId }: { readonly workflowId: string; readonly runId: string }) {
  const { client } = useApp()
  const { spans } = useRunLog(client, { workflowId, id: runId })
  return <StepGraph spans={spans} />
}
