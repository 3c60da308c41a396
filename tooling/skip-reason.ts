/** Marks the title of a suite or test that is skipped because tools are missing. */
export const markOf = (tools: readonly string[]) => `[needs ${tools.join(', ')}]`

/** The reason in the title of a skipped test; `undefined` for a test that `needsTool` did not skip. */
export const missingToolIn = (title: string): string | undefined =>
  /\[(?<reason>needs [^\]]+)\]/.exec(title)?.groups?.reason
