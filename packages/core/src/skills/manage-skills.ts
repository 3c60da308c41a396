import { AppError, type Logger, type SkillStore } from '@perdure/ports'
import { auditWrite } from '../audit/audit-write.ts'
import { recording } from '../audit/recording.ts'
import type { Principal } from '../auth/principal.ts'
import { createMutex } from '../concurrency/mutex.ts'
import { type CommitOnceDeps, commitOnce, type Decision } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Recall } from '../idempotency/recall.ts'
import type { Reply } from '../idempotency/reply.ts'

export interface ManageSkillsDeps extends CommitOnceDeps {
  readonly skills: SkillStore
  /** Those that are registered in code. */
  readonly registered: Pick<SkillStore, 'find'>
  readonly recall: Recall
  readonly logger: Logger
  readonly basePath: string
}

interface ManageRequest {
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
}

/** Both are links of the audit chain, without which nothing is done, and are carried out one after the other. */
export interface ManageSkills {
  /**
   * Copies a skill from a source folder.
   *
   * @throws AppError `skill-exists`, `audit-unavailable`; `validation-failed` for a source that is no usable skill
   */
  install(request: ManageRequest & { readonly source: string }): Promise<Reply>
  /** @throws AppError `skill-not-found`, `audit-unavailable`; `validation-failed` for a skill that is registered in code */
  remove(request: ManageRequest & { readonly name: string }): Promise<Reply>
}

export function createManageSkills(deps: ManageSkillsDeps): ManageSkills {
  const { skills, registered, recall, clock, basePath, logger } = deps
  const queue = createMutex()

  /** A request that has had its answer while it waited for its turn gets it again. */
  const runMutex = (key: KeyedRequest | undefined, work: () => Promise<Reply>): Promise<Reply> =>
    queue(async () => (key === undefined ? undefined : await recall(key)) ?? work())

  const record = async (decision: Omit<Decision, 'remember'>, key: KeyedRequest | undefined): Promise<Reply> => {
    const once = await recording(() => commitOnce(deps, key, async () => ({ ...decision, remember: true })))
    return once.kind === 'replayed' ? once.reply : once.decision.reply
  }

  return {
    install: ({ source, principal, key }) =>
      runMutex(key, async () => {
        const skill = await skills.install(source)
        const deed = { at: clock.now(), action: 'skills.install', target: skill.name, detail: { source } }
        const reply: Reply = { status: 201, body: skill, location: `${basePath}/skills/${skill.name}` }
        try {
          return await record({ writes: [auditWrite(principal, deed)], reply }, key)
        } catch (error) {
          if (isUndone(error)) await skills.remove(skill.name)
          throw error
        }
      }),
    remove: ({ name, principal, key }) =>
      runMutex(key, async () => {
        if ((await skills.find(name)) === undefined) throw new AppError('skill-not-found')
        if ((await registered.find(name)) !== undefined) {
          throw new AppError('validation-failed', {
            message: `${name} is registered in code`,
            hint: 'take it out of the registrations',
          })
        }
        const deed = { at: clock.now(), action: 'skills.remove', target: name }
        const reply = await record({ writes: [auditWrite(principal, deed)], reply: { status: 204 } }, key)
        if (!(await skills.remove(name))) logger.warn('the skill was already gone', { name })
        return reply
      }),
  }
}

/** Whether nothing was written for certain. */
const isUndone = (error: unknown) => error instanceof AppError && error.id === 'audit-unavailable'
