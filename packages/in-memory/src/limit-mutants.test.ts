import { fileStoreCases, fireStoreCases, triggerStoreCases, webhookStoreCases } from '@perdure/testkit'
import { expectCaught, rewriting } from './contract-mutants.fixture.ts'

const ALL = { limit: 200, order: 'asc' } as const

/** Each counts the rows before the commit, as a decision in one process would, and commits the insertion without a limit. */
expectCaught([
  {
    fault: 'counts the webhooks of a creator before the commit',
    breakPorts: rewriting(async (write, { webhooks }) => {
      if (write.type !== 'webhook.insert' || write.limits?.ofCreator === undefined) return write
      const isFull = (await webhooks.list()).length >= write.limits.ofCreator
      return isFull ? write : { ...write, limits: undefined }
    }),
    cases: webhookStoreCases,
    caughtBy:
      'lets exactly one of many concurrent callers insert the last webhook below the limit `ofCreator`, each time',
  },
  {
    fault: 'counts all webhooks before the commit',
    breakPorts: rewriting(async (write, { webhooks }) => {
      if (write.type !== 'webhook.insert' || write.limits?.total === undefined) return write
      const isFull = (await webhooks.list()).length >= write.limits.total
      return isFull ? write : { ...write, limits: undefined }
    }),
    cases: webhookStoreCases,
    caughtBy: 'lets exactly one of many concurrent callers insert the last webhook below the limit `total`, each time',
  },
  {
    fault: 'counts the webhooks of the configuration as those of their creator',
    breakPorts: rewriting((write) =>
      write.type === 'webhook.insert' ? { ...write, webhook: { ...write.webhook, source: 'api' } } : write,
    ),
    cases: webhookStoreCases,
    caughtBy: 'refuses a webhook above the limit of its creator or of all creators, even among concurrent inserts',
  },
  {
    fault: 'counts the triggers before the commit',
    breakPorts: rewriting(async (write, { triggers }) => {
      if (write.type !== 'trigger.insert' || write.maxTriggers === undefined) return write
      const isFull = (await triggers.list(ALL)).items.length >= write.maxTriggers
      return isFull ? write : { ...write, maxTriggers: undefined }
    }),
    cases: triggerStoreCases,
    caughtBy: 'lets exactly one of many concurrent callers insert the last trigger below the limit, each time',
  },
  {
    fault: 'counts the pending fires of a trigger before the commit',
    breakPorts: rewriting(async (write, { fires }) => {
      if (write.type !== 'fire.insert' || write.maxPending === undefined) return write
      const { items } = await fires.list({ triggerId: write.fire.triggerId, status: 'pending' }, ALL)
      return items.length >= write.maxPending ? write : { ...write, maxPending: undefined }
    }),
    cases: fireStoreCases,
    caughtBy: 'lets exactly one of many concurrent callers insert the last pending fire below the limit, each time',
  },
  {
    fault: 'adds up the files of an owner before the commit',
    breakPorts: rewriting(async (write, { files }) => {
      if (write.type !== 'file.insert' || write.ownerBytes === undefined) return write
      const { bytes } = await files.usage(write.file.owner)
      return bytes + write.file.size > write.ownerBytes ? write : { ...write, ownerBytes: undefined }
    }),
    cases: fileStoreCases,
    caughtBy: 'lets exactly one of many concurrent callers insert the last file below the limit of bytes, each time',
  },
])
