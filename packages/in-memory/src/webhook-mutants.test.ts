import { deliveryStoreCases, eventLogCases, webhookStoreCases } from '@perdure/testkit'
import { expectCaught, justBefore, rewriting } from './contract-mutants.fixture.ts'

expectCaught([
  {
    fault: 'lets a claimed delivery be claimed again before its lease expires',
    breakPorts: rewriting((write) =>
      write.type === 'delivery.claim' ? { ...write, now: Number.MAX_SAFE_INTEGER as typeof write.now } : write,
    ),
    cases: deliveryStoreCases,
    caughtBy: 'lets another sender claim a delivery after its lease expires and rejects the result of the first sender',
  },
  {
    fault: 'lets a sender store its outcome after it lost the lease',
    breakPorts: rewriting(async (write, { deliveries }) => {
      if (write.type !== 'delivery.change') return write
      return { ...write, lease: (await deliveries.find(write.id))?.lease ?? write.lease }
    }),
    cases: deliveryStoreCases,
    caughtBy: 'lets another sender claim a delivery after its lease expires and rejects the result of the first sender',
  },
  {
    fault: 'queues an event twice for a webhook',
    breakPorts: rewriting((write) =>
      write.type === 'delivery.insert' ? { ...write, delivery: { ...write.delivery, position: 0 } } : write,
    ),
    cases: deliveryStoreCases,
    caughtBy: 'lets exactly one of many concurrent callers insert the delivery of a position',
  },
  {
    fault: 'prunes pending deliveries a millisecond early',
    breakPorts: rewriting((write) =>
      write.type === 'delivery.prune' ? { ...write, before: justBefore(write.before) } : write,
    ),
    cases: deliveryStoreCases,
    caughtBy: 'prunes deliveries created before an instant (exclusive), up to the limit, except pending ones',
  },
  {
    fault: 'overwrites a concurrent change of a webhook',
    breakPorts: rewriting(async (write, { webhooks }) => {
      if (write.type !== 'webhook.replace') return write
      const version = (await webhooks.find(write.webhook.id))?.version ?? 0
      return { ...write, webhook: { ...write.webhook, version: version + 1 } }
    }),
    cases: webhookStoreCases,
    caughtBy: 'replaces a webhook whose version is the one before and keeps its creation time',
  },
  {
    fault: 'skips the rest of the log when a scan reaches its limit',
    breakPorts: ({ events }) => ({
      events: {
        ...events,
        scan: async (types, range) => ({
          ...(await events.scan(types, range)),
          through: (await events.head()).position,
        }),
      },
    }),
    cases: eventLogCases,
    caughtBy: 'ends a scan at its limit or at the payload length that it reaches, and continues behind it',
  },
])
