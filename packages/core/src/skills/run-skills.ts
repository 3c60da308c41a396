import { perdureError, type SkillContent, type SkillStore, type SkillSummary } from '@perdure/ports'
import { checkMembers, refuseProblems } from '../durable/check-options.ts'
import type { ServiceCaller } from '../durable/service-caller.ts'
import { toBase64 } from '../json/base64.ts'

/** The skills of the server. Every call is durable, like `ctx.step`. */
export interface RunSkills {
  /** Lists the skills by name. */
  list(): Promise<readonly SkillSummary[]>
  /** Returns a skill with its instructions and the paths of its files; `undefined` if it does not exist. */
  describe(name: string): Promise<SkillContent | undefined>
  /**
   * Returns a file of the skill as text or as base64; `undefined` if it does not exist.
   *
   * @throws PerdureError `validation-failed` for an invalid option; `step-failed` if the path leads out of the skill, or if
   *   the bytes are not UTF-8
   */
  read(name: string, path: string, options?: { readonly encoding?: 'utf8' | 'base64' }): Promise<string | undefined>
}

/** `ctx.skills`. */
export const createRunSkills = ({ skills }: { readonly skills: SkillStore }, { step }: ServiceCaller): RunSkills => ({
  list: () => step('skills.list', () => skills.list()),
  describe: (name) => step('skills.describe', () => skills.find(String(name))),
  async read(name, path, options = {}) {
    checkMembers('ctx.skills.read', options, ['encoding'])
    const { encoding = 'utf8' } = options
    refuseProblems('ctx.skills.read', [ENCODINGS.includes(encoding) ? undefined : 'encoding: must be utf8 or base64'])
    return step('skills.read', async () => {
      const bytes = await skills.readFile(String(name), String(path))
      if (bytes === undefined) return undefined
      return encoding === 'base64' ? toBase64(bytes) : toText(bytes, path)
    })
  },
})

const ENCODINGS = ['utf8', 'base64']

function toText(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw perdureError('validation-failed', { message: `${path} is not UTF-8 text; read it as base64`, cause })
  }
}
