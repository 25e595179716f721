-- A player in words, for pages and tables: its weights, and what sets it apart from another with the same.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

create view player_label as
select p.id, coalesce(nullif(w.name, ''), '#' || w.number)
    || coalesce(' · ' || (select min(e.name) from engine e where e.sha256 = p.engine_sha256), '')
    || coalesce(' · ' || (select string_agg(s, ' ' order by n) from jsonb_array_elements_text(p.options -> 'set') with ordinality x(s, n)), '')
    as label, w.number as weights, w.name as weights_name
from player p join weights w on w.sha256 = p.weights_sha256;
comment on view player_label is 'Players in words.';
comment on column player_label.id is 'Number of the player.';
comment on column player_label.label is 'Name (or #number) of its weights; engine and options where they are not the usual ones.';
comment on column player_label.weights is 'Number of its weights.';
comment on column player_label.weights_name is 'Name of its weights; empty = none.';
grant select on player_label to kroo_coordinator, kroo_trainer, kroo_reader;
