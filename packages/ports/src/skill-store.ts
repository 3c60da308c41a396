/** What is known of a skill. One that cannot be used is listed too, so that an operator sees why. */
export interface SkillSummary {
  readonly name: string // of a failing one: of its folder
  readonly description: string // empty when it is failing
  readonly status: 'ready' | 'failing'
  readonly reason?: string | undefined // why it is failing
  /** What else stands in its front matter. Plain JSON. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** A skill with the text below its front matter, and the paths of its other files, sorted, with `/` between folders. */
export interface SkillContent extends SkillSummary {
  readonly instructions: string
  readonly files: readonly string[]
}

/**
 * Port. Skills: folders in the Agent Skills format, or what stands for one. Nothing outside a skill's own folder is ever
 * opened. Passes `skillStoreContract`.
 */
export interface SkillStore {
  /** Every skill, by name in code-unit order; of two with one name the first counts. */
  list(): Promise<readonly SkillSummary[]>
  find(name: string): Promise<SkillContent | undefined>
  /**
   * The bytes of a file of the skill; `undefined` when there is no such skill or file.
   *
   * @throws AppError `validation-failed` for a path that is not a plain relative one, that leads out of the folder, or
   *   to something else than a file of bearable size
   */
  readFile(name: string, path: string): Promise<Uint8Array | undefined>
  /**
   * Copies the skill of a source folder. The skill is there as a whole or not at all, also after a crash; of two at once
   * one wins.
   *
   * @throws AppError `skill-exists`; `validation-failed` for a source that is not there, or not a usable skill
   */
  install(source: string): Promise<SkillSummary>
  /** Whether there was one. @throws AppError `validation-failed` for a skill that cannot be removed */
  remove(name: string): Promise<boolean>
}
