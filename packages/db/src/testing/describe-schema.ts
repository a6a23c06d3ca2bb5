import { escapeLiteral, type Client } from "pg";
import { z } from "zod";

const schemas = ["holdfast", "ops"];

/**
 * The schemas `holdfast` and `ops` as readable SQL that can be run, drawn from the catalogue. Equal schemas print the same on servers of the
 * same major version; views differ between versions. Sets the session's search path, so that every name is printed with its schema.
 */
export async function describeSchema(client: Client): Promise<string> {
  await client.query("set search_path = ''");
  await refuseUnprintable(client);
  const blocks = ["-- What the migrations amount to: written by `npm run db:dump-schema`, read by reviewers, compared by a test."];
  blocks.push(schemas.map((schema) => `create schema ${schema};`).join("\n"));
  // In an order in which each can be created after those that it may refer to.
  for (const part of [types, sequences, tables, functions, foreignKeys, triggers, views]) {
    for (const schema of schemas) blocks.push(...(await part(client, schema)));
  }
  return blocks.map((block) => `${block}\n`).join("\n");
}

async function read<T>(client: Client, row: z.ZodType<T>, text: string, ...values: unknown[]): Promise<T[]> {
  return z.array(row).parse((await client.query<Record<string, unknown>>(text, values)).rows);
}

/** What this file cannot print would be able to drift unseen. */
async function refuseUnprintable(client: Client): Promise<void> {
  const found = await read(
    client,
    z.object({ what: z.string() }),
    `select format('%s %I.%I', kind, nspname, name) as what from (
       select relnamespace as namespace, relname as name, 'relation of another kind:' as kind from pg_catalog.pg_class
       where relkind not in ('r', 'v', 'm', 'S', 'i', 'c') or relispartition or relrowsecurity
       union all
       select relnamespace, rulename, 'rule' from pg_catalog.pg_rewrite join pg_catalog.pg_class on pg_class.oid = ev_class where rulename <> '_RETURN'
       union all
       select pronamespace, proname, 'aggregate' from pg_catalog.pg_proc where prokind = 'a'
       union all
       select typnamespace, typname, 'type' from pg_catalog.pg_type
       where typtype not in ('e', 'd', 'b', 'c') or (typtype = 'c' and exists (select from pg_catalog.pg_class where oid = typrelid and relkind = 'c'))
     ) as object join pg_catalog.pg_namespace on pg_namespace.oid = namespace
     where nspname = any($1)`,
    schemas,
  );
  if (found.length > 0) throw new Error(`the schema dump cannot print: ${found.map(({ what }) => what).join(", ")}`);
}

async function types(client: Client, schema: string): Promise<string[]> {
  const rows = await read(
    client,
    z.object({ definition: z.string(), name: z.string(), comment: z.string().nullable() }),
    `select format('%I.%I', nspname, typname) as name, obj_description(type.oid, 'pg_type') as comment,
       case typtype
         when 'e' then format('create type %I.%I as enum (%s);', nspname, typname,
           (select string_agg(quote_literal(enumlabel), ', ' order by enumsortorder) from pg_catalog.pg_enum where enumtypid = type.oid))
         else concat(format('create domain %I.%I as %s', nspname, typname, format_type(typbasetype, typtypmod)),
           ' default ' || typdefault, case when typnotnull then ' not null' end,
           (select string_agg(format(' constraint %I %s', conname, pg_get_constraintdef(oid)), '' order by conname)
            from pg_catalog.pg_constraint where contypid = type.oid and contype = 'c'), ';')
       end as definition
     from pg_catalog.pg_type as type join pg_catalog.pg_namespace on pg_namespace.oid = typnamespace
     where nspname = $1 and typtype in ('e', 'd') order by typname`,
    schema,
  );
  return rows.map(({ definition, name, comment }) => [definition, ...commentOn("type", name, comment)].join("\n"));
}

/** Those of identity columns are part of their column. */
async function sequences(client: Client, schema: string): Promise<string[]> {
  const rows = await read(
    client,
    z.object({ definition: z.string() }),
    `select format('create sequence %I.%I as %s start %s increment %s minvalue %s maxvalue %s cache %s%s;', schemaname, sequencename, data_type,
       start_value, increment_by, min_value, max_value, cache_size, case when cycle then ' cycle' end) as definition
     from pg_catalog.pg_sequences
     where schemaname = $1 and not exists (select from pg_catalog.pg_depend where deptype = 'i' and classid = 'pg_catalog.pg_class'::regclass
       and objid = format('%I.%I', schemaname, sequencename)::regclass)
     order by sequencename`,
    schema,
  );
  return rows.map(({ definition }) => definition);
}

async function functions(client: Client, schema: string): Promise<string[]> {
  const rows = await read(
    client,
    z.object({ definition: z.string(), name: z.string(), comment: z.string().nullable() }),
    `select pg_get_functiondef(pg_proc.oid) as definition, pg_proc.oid::regprocedure::text as name, obj_description(pg_proc.oid, 'pg_proc') as comment
     from pg_catalog.pg_proc join pg_catalog.pg_namespace on pg_namespace.oid = pronamespace
     where nspname = $1 order by proname, pg_get_function_identity_arguments(pg_proc.oid) collate "C"`,
    schema,
  );
  return rows.map(({ definition, name, comment }) => [`${definition.trimEnd()};`, ...commentOn("routine", name, comment)].join("\n"));
}

async function tables(client: Client, schema: string): Promise<string[]> {
  const rows = await read(
    client,
    z.object({
      oid: z.number(),
      name: z.string(),
      unlogged: z.boolean(),
      options: z.array(z.string()).nullable(),
      comment: z.string().nullable(),
    }),
    `select pg_class.oid, format('%I.%I', nspname, relname) as name, relpersistence = 'u' as unlogged, reloptions as options,
       obj_description(pg_class.oid, 'pg_class') as comment
     from pg_catalog.pg_class join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
     where nspname = $1 and relkind = 'r' order by relname`,
    schema,
  );
  const blocks: string[] = [];
  for (const { oid, name, unlogged, options, comment } of rows) {
    const { lines, settings, comments } = await columns(client, oid, name);
    const body = [...lines, ...(await constraints(client, oid))].map((line) => `    ${line}`).join(",\n");
    const storage = options === null ? "" : ` with (\n${options.map((option) => `    ${option.replace("=", " = ")}`).join(",\n")}\n)`;
    const create = `create${unlogged ? " unlogged" : ""} table ${name} (\n${body}\n)${storage};`;
    blocks.push([create, ...settings, ...(await indexes(client, oid)), ...commentOn("table", name, comment), ...comments].join("\n"));
  }
  return blocks;
}

async function columns(
  client: Client,
  table: number,
  tableName: string,
): Promise<{ lines: string[]; settings: string[]; comments: string[] }> {
  const rows = await read(
    client,
    z.object({ name: z.string(), line: z.string(), settings: z.array(z.string()), comment: z.string().nullable() }),
    `select quote_ident(attname) as name,
       concat(quote_ident(attname), ' ', format_type(atttypid, atttypmod),
         case when attcollation <> typcollation then ' collate ' || attcollation::regcollation end,
         case when attnotnull then ' not null' end,
         case attidentity when 'a' then ' generated always as identity' when 'd' then ' generated by default as identity' end,
         case attgenerated when '' then ' default ' || pg_get_expr(adbin, adrelid)
           when 's' then format(' generated always as (%s) stored', pg_get_expr(adbin, adrelid))
           else format(' generated always as (%s)', pg_get_expr(adbin, adrelid)) end) as line,
       array_remove(array[
         case when attstorage <> typstorage
           then 'storage ' || case attstorage when 'p' then 'plain' when 'e' then 'external' when 'm' then 'main' else 'extended' end end,
         case attcompression when 'p' then 'compression pglz' when 'l' then 'compression lz4' end,
         case when attstattarget >= 0 then 'statistics ' || attstattarget end], null) as settings,
       col_description(attrelid, attnum) as comment
     from pg_catalog.pg_attribute join pg_catalog.pg_type on pg_type.oid = atttypid
       left join pg_catalog.pg_attrdef on adrelid = attrelid and adnum = attnum
     where attrelid = $1 and attnum > 0 and not attisdropped order by attnum`,
    table,
  );
  return {
    lines: rows.map(({ line }) => line),
    settings: rows.flatMap(({ name, settings }) =>
      settings.map((setting) => `alter table ${tableName} alter column ${name} set ${setting};`),
    ),
    comments: rows.flatMap(({ name, comment }) => commentOn("column", `${tableName}.${name}`, comment)),
  };
}

/** Not those of `not null`, which Postgres 18 names in the catalogue too and the columns print. */
async function constraints(client: Client, table: number): Promise<string[]> {
  const rows = await read(
    client,
    z.object({ line: z.string() }),
    `select format('constraint %I %s', conname, pg_get_constraintdef(oid)) as line from pg_catalog.pg_constraint
     where conrelid = $1 and contype in ('p', 'u', 'c', 'x') order by position(contype::text in 'puxc'), conname`,
    table,
  );
  return rows.map(({ line }) => line);
}

async function indexes(client: Client, table: number): Promise<string[]> {
  const rows = await read(
    client,
    z.object({ definition: z.string(), name: z.string(), comment: z.string().nullable() }),
    `select pg_get_indexdef(indexrelid) || ';' as definition, indexrelid::regclass::text as name, obj_description(indexrelid, 'pg_class') as comment
     from pg_catalog.pg_index join pg_catalog.pg_class on pg_class.oid = indexrelid
     where indrelid = $1 and not exists (select from pg_catalog.pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
     order by relname`,
    table,
  );
  return rows.flatMap(({ definition, name, comment }) => [definition, ...commentOn("index", name, comment)]);
}

async function foreignKeys(client: Client, schema: string): Promise<string[]> {
  const rows = await read(
    client,
    z.object({ definition: z.string() }),
    `select string_agg(format('alter table %s add constraint %I %s;', conrelid::regclass, conname, pg_get_constraintdef(pg_constraint.oid)),
       chr(10) order by conname) as definition
     from pg_catalog.pg_constraint join pg_catalog.pg_class on pg_class.oid = conrelid join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
     where nspname = $1 and contype = 'f' group by relname order by relname`,
    schema,
  );
  return rows.map(({ definition }) => definition);
}

async function triggers(client: Client, schema: string): Promise<string[]> {
  const rows = await read(
    client,
    z.object({ definition: z.string() }),
    `select concat(pg_get_triggerdef(pg_trigger.oid), ';',
       case tgenabled when 'D' then format(E'\\nalter table %s disable trigger %I;', tgrelid::regclass, tgname)
         when 'R' then format(E'\\nalter table %s enable replica trigger %I;', tgrelid::regclass, tgname)
         when 'A' then format(E'\\nalter table %s enable always trigger %I;', tgrelid::regclass, tgname) end) as definition
     from pg_catalog.pg_trigger join pg_catalog.pg_class on pg_class.oid = tgrelid join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
     where nspname = $1 and not tgisinternal order by relname, tgname`,
    schema,
  );
  return rows.map(({ definition }) => definition);
}

/** In the order in which they were created, for a view may read another. */
async function views(client: Client, schema: string): Promise<string[]> {
  const rows = await read(
    client,
    z.object({
      oid: z.number(),
      name: z.string(),
      kind: z.string(),
      options: z.string(),
      definition: z.string(),
      comment: z.string().nullable(),
    }),
    `select pg_class.oid, format('%I.%I', nspname, relname) as name, case relkind when 'm' then 'materialized view' else 'view' end as kind,
       concat(' with (' || array_to_string(reloptions, ', ') || ')') as options,
       pg_get_viewdef(pg_class.oid) as definition, obj_description(pg_class.oid, 'pg_class') as comment
     from pg_catalog.pg_class join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
     where nspname = $1 and relkind in ('v', 'm') order by pg_class.oid`,
    schema,
  );
  const blocks: string[] = [];
  for (const { oid, name, kind, options, definition, comment } of rows) {
    const { comments } = await columns(client, oid, name);
    const create = `create ${kind} ${name}${options} as\n${definition}`;
    blocks.push([create, ...(await indexes(client, oid)), ...commentOn(kind, name, comment), ...comments].join("\n"));
  }
  return blocks;
}

function commentOn(kind: string, name: string, comment: string | null): string[] {
  return comment === null ? [] : [`comment on ${kind} ${name} is ${escapeLiteral(comment)};`];
}
