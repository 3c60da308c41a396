import { isOpenApproval } from '@perdure/protocol'
import { may, useApp } from '../app-context.ts'
import { Shown, Status } from '../parts/basics.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { useReloadOn } from '../parts/use-reload.ts'
import { ApprovalCard } from './approval-card.tsx'

/** An approval where it was asked for. The request is read from the server, so that what is shown is what is approved. */
export function PendingApproval({ id, name }: { readonly id: string; readonly name: string }) {
  const app = useApp()
  if (!may(app, 'approvals:read')) return <p class="note wait">“{name}” waits for an approval.</p>
  return <ReadApproval key={id} id={id} />
}

function ReadApproval({ id }: { readonly id: string }) {
  const { client } = useApp()
  const loaded = useLoaded(() => client.approvals.get(id), [id])
  useReloadOn(({ type, payload }) => type.startsWith('approval.') && isAbout(payload, id), loaded.reload)
  return (
    <Shown loaded={loaded}>
      {(approval) =>
        isOpenApproval(approval.status) ? (
          <ApprovalCard approval={approval} last={undefined} onDecided={loaded.reload} isInPlace />
        ) : (
          <p>
            {approval.title ?? approval.name} <Status value={approval.status} />
          </p>
        )
      }
    </Shown>
  )
}

const isAbout = (payload: unknown, id: string): boolean =>
  typeof payload === 'object' && payload !== null && 'approvalId' in payload && payload.approvalId === id
