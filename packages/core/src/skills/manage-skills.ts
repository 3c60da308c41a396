import { isRefusal, type Logger, perdureError, type SkillStore } from '@perdure/ports'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import type { Principal } from '../auth/principal.ts'
import { createMutex } from '../concurrency/mutex.ts'
import { type CommitOnceDeps, commitOnce, type Decision } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Recall } from '../idempotency/recall.ts'
import type { Reply } from '../idempotency/reply.ts'

export interface ManageSkillsDeps extends CommitOnceDeps {
  readonly skills: SkillStore
  /** The skills that are registered in code. */
  readonly registered: Pick<SkillStore, 'find'>
  readonly recall: Recall
  readonly logger: Logger
  readonly basePath: string
}

interface ManageRequest {
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
}

/** Installs and removes skills, one request at a time. Changes nothing if the audit entry cannot be written. */
export interface ManageSkills {
  /**
   * Copies a skill from a source folder.
   *
   * @throws PerdureError `skill-exists`, `audit-unavailable`; `validation-failed` if the source is not a valid skill
   */
  install(request: ManageRequest & { readonly source: string }): Promise<Reply>
  /** @throws PerdureError `skill-not-found`, `audit-unavailable`; `validation-failed` if the skill is registered in code */
  remove(request: ManageRequest & { readonly name: string }): Promise<Reply>
}

export function createManageSkills(deps: ManageSkillsDeps): ManageSkills {
  const { skills, registered, recall, clock, basePath, logger } = deps
  const mutex = createMutex()

  /**
   * Runs under the mutex. A repeated request whose answer was stored while it waited for the mutex gets that answer.
   */
  const exclusively = (key: KeyedRequest | undefined, work: () => Promise<Reply>): Promise<Reply> =>
    mutex(async () => (key === undefined ? undefined : await recall(key)) ?? work())

  const record = async (decision: Omit<Decision, 'remember'>, key: KeyedRequest | undefined): Promise<Reply> => {
    const once = await requireAudit(() => commitOnce(deps, key, async () => ({ ...decision, remember: true })))
    return once.kind === 'replayed' ? once.reply : once.decision.reply
  }

  return {
    install: ({ source, principal, key }) =>
      exclusively(key, async () => {
        const skill = await skills.install(source)
        const entry = { at: clock.now(), action: 'skills.install', target: skill.name, detail: { source } }
        const reply: Reply = { status: 201, body: skill, location: `${basePath}/skills/${skill.name}` }
        try {
          return await record({ writes: [auditWrite(principal, entry)], reply }, key)
        } catch (error) {
          if (wasNotWritten(error)) await skills.remove(skill.name)
          throw error
        }
      }),
    remove: ({ name, principal, key }) =>
      exclusively(key, async () => {
        if ((await skills.find(name)) === undefined) throw perdureError('skill-not-found')
        if ((await registered.find(name)) !== undefined) {
          throw perdureError('validation-failed', {
            message: `${name} is registered in code`,
            hint: 'remove the skill from the registrations',
          })
        }
        const entry = { at: clock.now(), action: 'skills.remove', target: name }
        const reply = await record({ writes: [auditWrite(principal, entry)], reply: { status: 204 } }, key)
        if (!(await skills.remove(name))) logger.warn('the skill was already removed', { name })
        return reply
      }),
  }
}

/** Whether the error proves that nothing was written. */
const wasNotWritten = (error: unknown) => isRefusal(error) && error.code === 'audit-unavailable'
