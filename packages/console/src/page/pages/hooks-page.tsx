import { HOOK_DELIVERY_STATUSES } from '@perdure/protocol'
import { may, mayChange, useApp } from '../app-context.ts'
import type { Hook, HookDelivery, HookDeliverySummary } from '../client/resources.ts'
import { Card, Facts, Heading, Shown, Status, shortId } from '../parts/basics.tsx'
import { Choice } from '../parts/choice.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { jsonOrText } from '../parts/json-or-text.ts'
import { JsonView } from '../parts/json-view.tsx'
import { Paged, usePages } from '../parts/paged.tsx'
import { Ago } from '../parts/time.tsx'
import { useAction } from '../parts/use-action.ts'
import { useLoaded } from '../parts/use-loaded.ts'
import { useReloadOn } from '../parts/use-reload.ts'
import { hrefOf, replaceQuery } from '../route.ts'

function targetText({ to }: Hook): string {
  if (to === undefined) return 'triggers of this hook'
  return to.agentId ?? to.workflowId ?? `the event ${to.event}`
}

/** The addresses at which the server receives deliveries of other services. */
export function HooksPage() {
  const { client } = useApp()
  const loaded = usePages((cursor) => client.hooks.list({ limit: 50, cursor }), [])
  return (
    <>
      <Heading title="Hooks" />
      <Paged loaded={loaded}>
        {(hooks) => (
          <DataTable
            rows={hooks}
            keyOf={({ id }) => id}
            caption="Hooks, by id"
            empty="No hook is configured. Add one to webhooks.in of the configuration."
            columns={[
              { head: 'Hook', cell: ({ id }) => <a href={hrefOf(['hooks', id])}>{id}</a> },
              { head: 'Path', cell: ({ path }) => <code>{path}</code> },
              { head: 'Verified as', cell: ({ verify }) => verify },
              { head: 'Starts', cell: targetText },
              { head: 'Secrets', cell: ({ secrets }) => secrets, isNumber: true },
            ]}
          />
        )}
      </Paged>
    </>
  )
}

/** One hook and what it has received. The dead deliveries wait until somebody replays them. */
export function HookPage({ hookId }: { readonly hookId: string }) {
  const app = useApp()
  const { client, route } = app
  const status = HOOK_DELIVERY_STATUSES.find((one) => one === route.query.status)
  const hook = useLoaded(() => client.hooks.get(hookId), [hookId])
  const loaded = usePages((cursor) => client.hooks.deliveries(hookId, { limit: 50, cursor, status }), [hookId, status])
  const { act, isBusy } = useAction()
  useReloadOn(({ type }) => type === 'run.started', loaded.reload)
  const test = () => act('Sent a sample', () => client.hooks.test(hookId, {}).then(loaded.reload))
  return (
    <>
      <Heading title={<Crumb title={hookId} />}>
        {mayChange(app, 'hooks:write') ? (
          <button type="button" disabled={isBusy} onClick={() => void test()}>
            Send a sample
          </button>
        ) : null}
      </Heading>
      <Shown loaded={hook}>
        {(shown) => (
          <Facts
            rows={[
              ['Path', <code key="path">{shown.path}</code>],
              ['Verified as', shown.verify],
              ['Secrets', shown.secrets],
              ['Starts', <Starts key="starts" hook={shown} />],
            ]}
          />
        )}
      </Shown>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Choice
          name="Status"
          value={status}
          options={HOOK_DELIVERY_STATUSES}
          none="all"
          onChange={(chosen) => replaceQuery(route, { status: chosen ?? '' })}
        />
      </form>
      <Paged loaded={loaded}>
        {(deliveries) => (
          <DataTable
            rows={deliveries}
            keyOf={({ id }) => id}
            caption="Deliveries, newest first"
            empty="There are no such deliveries."
            columns={[
              {
                head: 'Delivery',
                cell: ({ id, deliveryId }) => (
                  <a class="id" href={hrefOf(['hooks', hookId, id])} title={deliveryId}>
                    {shortId(deliveryId)}
                  </a>
                ),
              },
              { head: 'Status', cell: (delivery) => <Status value={delivery.status} /> },
              { head: 'Started', cell: startedText },
              { head: 'Reason', cell: ({ reason }) => reason },
              { head: 'Replays', cell: ({ replays }) => replays, isNumber: true },
              { head: 'Received', cell: ({ receivedAt }) => <Ago at={receivedAt} />, isNumber: true },
            ]}
          />
        )}
      </Paged>
    </>
  )
}

/** What the hook starts. The page of its trigger lists the runs. */
function Starts({ hook }: { readonly hook: Hook }) {
  const app = useApp()
  const text = targetText(hook)
  const hasTrigger = hook.to !== undefined && hook.to.event === undefined
  if (!(hasTrigger && may(app, 'triggers:read'))) return <>{text}</>
  return <a href={hrefOf(['triggers', `hook-${hook.id}`])}>{text}</a>
}

/** The emitted event, or how many triggers have fired. */
function startedText({ event, fireIds }: HookDeliverySummary): string {
  const fires = fireIds.length === 0 ? [] : [`${fireIds.length} ${fireIds.length === 1 ? 'fire' : 'fires'}`]
  return [...(event === undefined ? [] : [event]), ...fires].join(', ')
}

function Crumb({ hookId, title }: { readonly hookId?: string; readonly title: string }) {
  return (
    <>
      <span class="crumb">
        <a href="#/hooks">Hooks</a> / {hookId === undefined ? null : <a href={hrefOf(['hooks', hookId])}>{hookId}</a>}
        {hookId === undefined ? '' : ' / '}
      </span>
      <span class="id">{title}</span>
    </>
  )
}

interface HookDeliveryPageProps {
  readonly hookId: string
  readonly id: string
}

/** A delivery as it was received, and what became of it. */
export function HookDeliveryPage({ hookId, id }: HookDeliveryPageProps) {
  const app = useApp()
  const { client } = app
  const loaded = useLoaded(() => client.hooks.delivery(hookId, id), [hookId, id])
  const { act, isBusy } = useAction()
  const replay = () =>
    act('Replayed', async () => {
      await client.hooks.replay(hookId, id)
      loaded.reload()
    })
  return (
    <>
      <Heading title={<Crumb hookId={hookId} title={shortId(id)} />}>
        {mayChange(app, 'hooks:write') ? (
          <button type="button" class="primary" disabled={isBusy} onClick={() => void replay()}>
            Replay
          </button>
        ) : null}
      </Heading>
      <Shown loaded={loaded}>{(delivery) => <Delivery delivery={delivery} />}</Shown>
    </>
  )
}

function Delivery({ delivery }: { readonly delivery: HookDelivery }) {
  const { status, reason, deliveryId, receivedAt, handledAt, replays, headers, body } = delivery
  return (
    <>
      <Facts
        rows={[
          ['Status', <Status key="status" value={status} />],
          ['Reason', reason],
          [
            'Id of the sender',
            <span class="id-text long" key="id">
              {deliveryId}
            </span>,
          ],
          ['Started', startedText(delivery)],
          ['Received', <Ago key="received" at={receivedAt} />],
          ['Handled', <Ago key="handled" at={handledAt} />],
          ['Replays', replays],
        ]}
      />
      <Card title="Body">
        <JsonView value={jsonOrText(body)} label="Body" />
      </Card>
      <Card title="Headers">
        <JsonView value={headers} label="Headers" />
      </Card>
    </>
  )
}
