import type { Migration } from './migration.ts'

/**
 * The usage in the record of a run includes that of all runs below it. Records of ended runs did so already; for an open
 * run, the usage of ended children was in its calls, and that of open children only in their records.
 */
export const usageOfChildren: Migration = {
  version: 22,
  name: 'usage-of-children',
  sql: `
CREATE TABLE usage_below AS
  WITH RECURSIVE
    tree (top, key, id) AS (
      SELECT key, key, id FROM runs WHERE status = 'queued' OR status = 'running' OR status = 'suspended'
      UNION ALL
      SELECT tree.top, runs.key, runs.id FROM tree JOIN runs ON runs.parent_run_id = tree.id
      WHERE runs.status = 'queued' OR runs.status = 'running' OR runs.status = 'suspended'
    ),
    part (top, usage) AS (
      SELECT tree.top, runs.usage FROM tree JOIN runs ON runs.key = tree.key WHERE tree.key <> tree.top
      UNION ALL
      SELECT tree.top, steps.usage FROM tree JOIN steps ON steps.run_key = tree.key WHERE steps.usage IS NOT NULL
      UNION ALL
      SELECT tree.top, runs.usage FROM tree
        JOIN steps ON steps.run_key = tree.key AND steps.child_run_id IS NOT NULL AND steps.usage IS NULL
        JOIN run_keys ON run_keys.run_id = steps.child_run_id
        JOIN runs ON runs.key = run_keys.key
      WHERE runs.status NOT IN ('queued', 'running', 'suspended')
    )
  SELECT top AS key,
    sum(coalesce(usage ->> 'inputTokens', 0)) AS input_tokens, sum(coalesce(usage ->> 'outputTokens', 0)) AS output_tokens,
    sum(coalesce(usage ->> 'costUsd', 0)) AS cost_usd, sum(coalesce(usage ->> 'toolCalls', 0)) AS tool_calls
  FROM part GROUP BY top;

UPDATE runs SET usage = json_object(
    'inputTokens', coalesce(usage ->> 'inputTokens', 0) + below.input_tokens,
    'outputTokens', coalesce(usage ->> 'outputTokens', 0) + below.output_tokens,
    'costUsd', coalesce(usage ->> 'costUsd', 0) + below.cost_usd,
    'toolCalls', coalesce(usage ->> 'toolCalls', 0) + below.tool_calls)
  FROM usage_below AS below WHERE below.key = runs.key;

DROP TABLE usage_below;
`,
}
