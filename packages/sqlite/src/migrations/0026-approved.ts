import type { Migration } from './migration.ts'

/**
 * Approvals are `approved`, no longer `granted`, and a budget limits `maxDuration`, no longer `wallClockMs`. The server
 * alone writes decisions and budgets: a decision begins with its verdict, and a budget has only numbers. Events are
 * translated when they are read (`toEventPayload`); audit entries and what clients and agents have written stay as they are.
 * Steps count their recoveries.
 */
export const approved: Migration = {
  version: 26,
  name: 'approved',
  sql: `
UPDATE approvals SET status = 'approved' WHERE status = 'granted';

UPDATE steps SET result = '{"approved":' || substr(result, length('{"granted":') + 1)
  WHERE kind = 'approval' AND substr(result, 1, length('{"granted":')) = '{"granted":';

UPDATE runs SET budget = replace(budget, '"wallClockMs":', '"maxDuration":')
  WHERE budget IS NOT NULL AND instr(budget, '"wallClockMs":') > 0;

ALTER TABLE steps ADD COLUMN recoveries integer;
`,
}
