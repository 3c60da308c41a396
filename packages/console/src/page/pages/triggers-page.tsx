import { may, mayChange, useApp } from '../app-context.ts'
import type { Trigger } from '../client/resources.ts'
import { Card, Facts, Heading, Shown, Status } from '../parts/basics.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Paged, usePages } from '../parts/paged.tsx'
import { Ago } from '../parts/time.tsx'
import { useAction } from '../parts/use-action.ts'
import { useLoaded } from '../parts/use-loaded.ts'
import { useReloadOnSubject } from '../parts/use-reload.ts'
import { goTo, hrefOf } from '../route.ts'
import { Calendar } from '../triggers/calendar.tsx'

const targetOf = ({ target }: Trigger): string => ('agentId' in target ? target.agentId : target.workflowId)

/** When a trigger of each kind fires, in words. */
const RULE_TEXTS: Readonly<Record<Trigger['kind'], (trigger: Trigger) => string>> = {
  cron: ({ cron, timezone }) => `${cron} ${timezone ?? 'UTC'}`,
  interval: ({ intervalMs }) => `every ${(intervalMs ?? 0) / 1_000} s`,
  idle: ({ idleMs }) => `after ${(idleMs ?? 0) / 1_000} s without activity`,
  event: ({ event }) => `on the event ${event}`,
  webhook: ({ hook }) => `on each delivery of the hook ${hook}`,
}

const ruleText = (trigger: Trigger): string => RULE_TEXTS[trigger.kind](trigger)

/** What starts runs by itself. */
export function TriggersPage() {
  const { client } = useApp()
  const loaded = usePages((cursor) => client.triggers.list({ limit: 50, cursor }), [])
  return (
    <>
      <Heading title="Triggers" />
      <Paged loaded={loaded}>
        {(triggers) => (
          <DataTable
            rows={triggers}
            keyOf={({ id }) => id}
            caption="Triggers, newest first"
            empty="No trigger exists. Add one to the configuration, or with POST /triggers."
            columns={[
              { head: 'Trigger', cell: ({ id }) => <a href={hrefOf(['triggers', id])}>{id}</a> },
              { head: 'Rule', cell: ruleText },
              { head: 'Starts', cell: targetOf },
              { head: 'Status', cell: ({ status }) => <Status value={status} /> },
              { head: 'Last', cell: ({ lastStatus }) => (lastStatus === null ? '–' : <Status value={lastStatus} />) },
              { head: 'Missed', cell: ({ missed }) => missed, isNumber: true },
              { head: 'Next', cell: ({ nextFireAt }) => <Ago at={nextFireAt} />, isNumber: true },
            ]}
          />
        )}
      </Paged>
    </>
  )
}

const MAX_SHOWN = 200

/** One trigger: its rule, its calendar and its fires. */
export function TriggerPage({ triggerId }: { readonly triggerId: string }) {
  const { client } = useApp()
  const loaded = useLoaded(async () => {
    const [trigger, fires, next] = await Promise.all([
      client.triggers.get(triggerId),
      client.triggers.fires(triggerId, { limit: MAX_SHOWN }),
      client.triggers.next(triggerId, { count: MAX_SHOWN }),
    ])
    return { trigger, fires: fires.items, upcoming: next.fires }
  }, [triggerId])
  const { reload } = loaded
  useReloadOnSubject(`trigger:${triggerId}/events`, () => true, reload)
  return (
    <>
      <Heading
        title={
          <>
            <span class="crumb">
              <a href="#/triggers">Triggers</a> /{' '}
            </span>
            {triggerId}
          </>
        }
      >
        {loaded.data === undefined ? null : <TriggerActions trigger={loaded.data.trigger} onChanged={reload} />}
      </Heading>
      <Shown loaded={loaded}>
        {({ trigger, fires, upcoming }) => (
          <>
            <Facts
              rows={[
                ['Status', <Status key="status" value={trigger.status} />],
                ['Rule', ruleText(trigger)],
                ['Starts', targetOf(trigger)],
                ['Catch-up', `${trigger.catchUp}${trigger.catchUp === 'all' ? `, at most ${trigger.maxCatchUp}` : ''}`],
                ['Overlap', trigger.overlap],
                ['Fired', trigger.fireCount],
                ['Missed', trigger.missed],
                ['Reason', trigger.reason],
              ]}
            />
            <Card title="Calendar">
              <Calendar trigger={trigger} fires={fires} upcoming={trigger.enabled ? upcoming : []} />
            </Card>
            <Card title="Next 10">
              <DataTable
                rows={upcoming.slice(0, 10)}
                keyOf={({ at }) => at}
                caption="The next fires"
                empty="This trigger has no schedule."
                columns={[
                  { head: trigger.timezone ?? 'UTC', cell: ({ at }) => localText(at, trigger.timezone) },
                  { head: 'UTC', cell: ({ at }) => <code>{at}</code> },
                  { head: 'From now', cell: ({ at }) => <Ago at={at} />, isNumber: true },
                ]}
              />
            </Card>
            <Card title="Last fires">
              <DataTable
                rows={fires.slice(0, 20)}
                keyOf={({ id }) => id}
                caption="The last fires, newest first"
                empty="This trigger has not fired."
                columns={[
                  { head: 'Due', cell: ({ scheduledAt }) => localText(scheduledAt, trigger.timezone) },
                  { head: 'Status', cell: ({ status }) => <Status value={status} /> },
                  { head: 'By hand', cell: ({ manual }) => (manual ? 'yes' : '') },
                  { head: 'Reason', cell: ({ reason }) => reason },
                  {
                    head: 'Run',
                    cell: ({ runId }) => (runId === undefined ? '–' : <a href={hrefOf(['runs', runId])}>Open</a>),
                  },
                ]}
              />
            </Card>
          </>
        )}
      </Shown>
    </>
  )
}

const localText = (at: string, timeZone = 'UTC'): string =>
  new Intl.DateTimeFormat(undefined, { timeZone, dateStyle: 'medium', timeStyle: 'long' }).format(new Date(at))

function TriggerActions({ trigger, onChanged }: { readonly trigger: Trigger; readonly onChanged: () => void }) {
  const app = useApp()
  const { client } = app
  const { act, isBusy } = useAction()
  const { id, enabled } = trigger
  const fire = () =>
    act(`Fired ${id}`, async () => {
      const { runId } = await client.triggers.fire(id)
      onChanged()
      if (may(app, 'runs:read')) goTo(hrefOf(['runs', runId]))
    })
  const toggle = () =>
    act(enabled ? `Disabled ${id}` : `Enabled ${id}`, async () => {
      await (enabled ? client.triggers.disable(id) : client.triggers.enable(id))
      onChanged()
    })
  return (
    <>
      {mayChange(app, 'triggers:fire') ? (
        <button type="button" class="primary" disabled={isBusy} onClick={() => void fire()}>
          Fire now
        </button>
      ) : null}
      {mayChange(app, 'triggers:write') ? (
        <button type="button" disabled={isBusy} onClick={() => void toggle()}>
          {enabled ? 'Disable' : 'Enable'}
        </button>
      ) : null}
    </>
  )
}
