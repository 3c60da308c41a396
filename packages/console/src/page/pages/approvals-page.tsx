import type { PerdureClient } from '@perdure/client'
import { isOpenApproval } from '@perdure/protocol'
import { useState } from 'preact/hooks'
import { useApp } from '../app-context.ts'
import { ApprovalCard } from '../approvals/approval-card.tsx'
import type { Approval } from '../client/resources.ts'
import type { PendingApprovals } from '../live/pending-approvals.ts'
import { Empty, Heading, Shown, Status, shortId } from '../parts/basics.tsx'
import { Subject } from '../parts/subject.tsx'
import { Ago } from '../parts/time.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { useReloadOn } from '../parts/use-reload.ts'
import { hrefOf } from '../route.ts'

/** Decisions that runs wait for. */
export function ApprovalsPage() {
  const { client, route, pending } = useApp()
  const { run } = route.query
  // The list of the whole console is limited, so the approvals of one run are read by themselves.
  const ofRun = useLoaded(async () => (run === undefined ? NOTHING : readPending(client, run)), [run])
  const waiting = run === undefined ? pending : ofRun
  const { reload } = waiting
  // The requests that were approved before, to compare with. Without them, nothing is compared.
  const approved = useLoaded(() => client.approvals.list({ status: 'approved', limit: 100 }), [])
  useReloadOn(({ type }) => run !== undefined && type.startsWith('approval.'), reload)
  return (
    <>
      <Heading title="Approvals" />
      {run === undefined ? null : (
        <p>
          Only approvals of run <a href={hrefOf(['runs', run])}>{shortId(run)}</a>. <a href="#/approvals">Show all</a>
        </p>
      )}
      <Shown loaded={waiting}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>No approval is pending.</Empty>
          ) : (
            <ul class="inbox">
              {items.map((approval) => (
                <li key={approval.id}>
                  <ApprovalCard
                    approval={approval}
                    last={approved.data?.items.find((one) => isSameQuestion(one, approval))}
                    onDecided={reload}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      <Decided />
    </>
  )
}

const NOTHING: PendingApprovals = { items: [], nextCursor: null }

const readPending = (client: PerdureClient, runId: string): Promise<PendingApprovals> =>
  client.approvals.list({ status: 'pending', limit: 100, runId })

/** Whether the same code has asked the same, so that the arguments can be compared. */
const isSameQuestion = (one: Approval, other: Approval): boolean =>
  one.name === other.name && one.agentId === other.agentId && one.workflowId === other.workflowId

function Decided() {
  const { client } = useApp()
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="decided" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Decided</summary>
      {isOpen ? <DecidedList read={() => client.approvals.list({ limit: 50 })} /> : null}
    </details>
  )
}

function DecidedList({ read }: { readonly read: () => Promise<{ readonly items: readonly Approval[] }> }) {
  const loaded = useLoaded(read, [])
  return (
    <Shown loaded={loaded}>
      {({ items }) => {
        const decided = items.filter(({ status }) => !isOpenApproval(status))
        if (decided.length === 0) return <Empty>No decisions yet.</Empty>
        return (
          <div class="scroll">
            <table>
              <caption class="hidden">Decided approvals, newest first</caption>
              <thead>
                <tr>
                  <th scope="col">Approval</th>
                  <th scope="col">Decision</th>
                  <th scope="col">By</th>
                  <th scope="col">Reason</th>
                  <th scope="col">Run</th>
                  <th scope="col" class="number">
                    Decided
                  </th>
                </tr>
              </thead>
              <tbody>
                {decided.map((one) => (
                  <tr key={one.id}>
                    <th scope="row">{one.title ?? one.name}</th>
                    <td>
                      <Status value={one.status} />
                    </td>
                    <td>
                      <Subject id={one.by} />
                    </td>
                    <td class="long">{one.reason}</td>
                    <td>
                      <a class="id" href={hrefOf(['runs', one.runId])}>
                        {shortId(one.runId)}
                      </a>
                    </td>
                    <td class="number">
                      <Ago at={one.resolvedAt ?? one.expiresAt} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )
      }}
    </Shown>
  )
}
