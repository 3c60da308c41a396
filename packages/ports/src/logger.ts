/** Flat, JSON-safe facts. Never a secret, never user data. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>

/** Port. One line per call. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  /** `error` is logged with its stack and causes. */
  error(message: string, error: unknown, fields?: LogFields): void
}
